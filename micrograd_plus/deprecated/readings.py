"""What is now in `micrograd_plus.backends` and `micrograd_plus.formulas`."""

from micrograd_plus.deprecated import scattered

scattered(
    __name__, arrays="backends.arrays", floats="backends.floats", layouts="formulas.layouts", marks="formulas.marks",
    matrices="backends.matrices", notation="formulas.notation", placing="backends.placing",
    resampling="backends.resampling", scans="backends.scans", sequences="backends.sequences", shapes="backends.shapes",
    special="backends.special", symbols="formulas.symbols", vocabulary="backends.devices", waves="backends.waves",
    windows="backends.windows",
)  # fmt: skip
