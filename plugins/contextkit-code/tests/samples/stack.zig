const std = @import("std");

/// A stack of numbers.
pub const Stack = struct {
    items: []u32,

    /// Push one number.
    pub fn push(self: *Stack, item: u32) void {
        _ = self;
        _ = item;
    }
};

const Order = enum { up, down };

const Value = union(enum) { whole: i64, none };

/// Add two numbers.
pub fn add(a: u32, b: u32) u32 {
    return a + b;
}

test "adds" {
    try std.testing.expect(add(1, 2) == 3);
}
