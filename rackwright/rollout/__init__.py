"""From phase 1 to phase 2 beside it: steps as data, a journal, and a runner that goes on where it was stopped."""
