//! A cache.

use std::collections::HashMap;

/// How entries leave the cache.
#[derive(Debug, Clone)]
pub enum Policy {
    Oldest,
    Largest,
}

/// A bounded cache.
pub struct Cache<K, V> {
    entries: HashMap<K, V>,
}

/// What can be stored.
pub trait Store {
    /// Store one entry.
    fn store(&mut self, key: &str) -> bool;

    fn describe(&self) -> String {
        String::from("store")
    }
}

impl<K, V> Cache<K, V> {
    /// Make an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Cache { entries: HashMap::new() }
    }
}

impl<K, V> Store for Cache<K, V> {
    fn store(&mut self, key: &str) -> bool {
        key.is_empty()
    }
}

/// Hash a key.
pub async fn hash_key(key: &str) -> u64 {
    key.len() as u64
}

pub type Shared<T> = std::sync::Arc<T>;

macro_rules! cached {
    ($key:expr) => {
        $key
    };
}

mod tests {
    #[test]
    fn stores_nothing() {
        assert!(true);
    }
}
