"""Function transforms: gradients, Jacobian products, checkpoints, loops, custom rules and gradient checks."""

from .checkpoint import checkpoint, checkpoint_sequential, is_checkpointing, is_recomputing
from .control import cond, scan, while_loop
from .custom import custom_jvp, custom_vjp
from .forward import hvp, jvp
from .gradcheck import gradcheck
from .reverse import grad, hessian, jacobian, value_and_grad, vjp

__all__ = [
    "checkpoint", "checkpoint_sequential", "cond", "custom_jvp", "custom_vjp", "grad", "gradcheck", "hessian", "hvp",
    "is_checkpointing", "is_recomputing", "jacobian", "jvp", "scan", "value_and_grad", "vjp", "while_loop",
]  # fmt: skip
