"""First-order training of support vector machines: the library of the book."""
