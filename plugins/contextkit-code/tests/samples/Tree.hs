module Tree where

import Data.Maybe (fromMaybe)

-- | A binary tree.
data Tree a
  = Leaf
  | Node (Tree a) a (Tree a)

newtype Depth = Depth Int

type Forest a = [Tree a]

-- | What can be measured.
class Measured m where
  measure :: m -> Int

instance Measured (Tree a) where
  measure Leaf = 0
  measure (Node left _ right) = measure left + measure right

-- | Insert a value.
insert :: Ord a => a -> Tree a -> Tree a
insert value Leaf = Node Leaf value Leaf
insert value tree@(Node left own right)
  | value < own = Node (insert value left) own right
  | otherwise = tree

empty :: Tree a
empty = Leaf
