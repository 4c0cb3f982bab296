#ifndef LIST_H
#define LIST_H

/* A cursor over a list. */
struct cursor {
    int position;
};

/* Count the nodes. */
int list_count(const struct cursor *from);

#endif
