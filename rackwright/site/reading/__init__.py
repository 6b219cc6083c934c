"""How a site file is read: text to document, document to blocks, and every fault with its place and cure."""
