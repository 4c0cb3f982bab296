#include <stdlib.h>

/* A node of a list. */
struct node {
    int value;
    struct node *next;
};

typedef struct {
    struct node *head;
} list_t;

enum order { ASCENDING, DESCENDING };

union number {
    int whole;
    float real;
};

#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)

/**
 * Make a node.
 */
static struct node *make_node(int value)
{
    struct node *made = malloc(sizeof(*made));
    made->value = value;
    return made;
}

// Free every node.
void list_free(list_t *list)
{
    free(list->head);
}
