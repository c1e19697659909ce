"""Operations that stand apart: quantisation, signals, splats."""
