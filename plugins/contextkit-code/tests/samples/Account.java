package bank;

import java.util.List;

/** An account with a balance. */
@Deprecated
public class Account<T> implements Holder {
    private long balance;

    /** Opens an account. */
    public Account(long balance) {
        this.balance = balance;
    }

    /**
     * Takes money out.
     *
     * @param amount in cents
     */
    @Override
    public boolean withdraw(long amount) {
        balance -= amount;
        return true;
    }

    static class Entry {
        long amount() {
            return 1;
        }
    }
}

interface Holder {
    boolean withdraw(long amount);
}

enum Kind {
    SAVINGS,
    CURRENT;

    boolean pays() {
        return this == SAVINGS;
    }
}

record Transfer(long amount, Kind kind) {
    Transfer reversed() {
        return new Transfer(-amount, kind);
    }
}

@interface Audited {
    String reason();
}
