import Foundation

/// Keeps values.
public class Store: Keeping {
    private var values: [String: Int] = [:]

    public init(values: [String: Int]) {
        self.values = values
    }

    /// The value of a key.
    public func value(for key: String) -> Int? {
        return values[key]
    }
}

protocol Keeping {
    func value(for key: String) -> Int?
}

struct Entry {
    let key: String

    mutating func clear() {
    }
}

enum Failure: Error {
    case missing
}

extension Store {
    func isEmpty() -> Bool { values.isEmpty }
}

/// Open a store.
func openStore(path: String) throws -> Store {
    return Store(values: [:])
}

actor Counter {
    func next() -> Int { 1 }
}
