"""The vector store's way: collections copied point by point, kept in step by passes, cut over with writes paused."""
