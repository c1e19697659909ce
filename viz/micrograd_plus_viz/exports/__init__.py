"""What is taken away from a walk: a step as a picture (`sheet`, of `cards`, `told` and `typeset`), films (`film`),
large graphs in groups (`outline`), and solutions on paper (`solution`, `latex`)."""
