"""What surrounds the engine at run time: hooks, recorders, the ownership of arrays, and the blocks that users open."""
