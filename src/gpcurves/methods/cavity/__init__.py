"""The cavity method: belief propagation on graphs, from the inside out.

- `messages`: compiled loops over many small matrices; one round of messages, and marginals.
- `compiled`, `rounds`: the slots of a graph, and the one driver that sends messages until they converge; prior variances from
  walks that return, faster than messages.
- `beliefs`: one given graph. Exact on trees; on graphs with cycles each vertex sees the tree of walks.
- `dynamics`, `population`: an ensemble, as messages on large random graphs that are drawn again and again.
- `experiments`, `method`: learning curves of the method ``cavity``, and what cycles change.

Kernels bring their own messages: `gpcurves.graphs.vertex_model`.
"""
