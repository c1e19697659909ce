"""The catalogue of mistakes: each row has a title, the question a teacher would ask, and what is wrong."""

from __future__ import annotations

ROWS: dict[str, tuple[str, str, str]] = {
    "M1": (
        "the gradient is overwritten",
        "Count the arrows that leave this value. Each carries a gradient back: where do they meet?",
        "What arrives later replaces what arrived before; it has to be added.",
    ),
    "M2": (
        "one object as both operands is counted once",
        "How many arguments has the product when both are the same object?",
        "The operands are kept in a set, or as keys, and a set keeps one of two equals.",
    ),
    "M3": (
        "no order: a node passes on before all has arrived",
        "When you pass on this node's gradient, has everybody who uses it already paid in?",
        "Nodes are visited along paths, so one is passed by before its last user was.",
    ),
    "M4": (
        "inputs before outputs",
        "Which node is the only one whose gradient you know at the start?",
        "The order runs from the leaves to the root, and at the leaves nothing has arrived yet.",
    ),
    "M5": (
        "inner gradients are kept for the next walk",
        "Print the gradient of a middle node just before the second walk.",
        "What the first walk left at inner nodes is passed on again by the second.",
    ),
    "M6": (
        "upstream is forgotten",
        "What if this were not the last operation? Where does the gradient of its output come in?",
        "The slope is right, and it is not multiplied by what arrived from above.",
    ),
    "M7": (
        "values are read as they are now",
        "Which value was used when the result was computed?",
        "A rule reads a number that was changed after the forward had used it.",
    ),
    "M8": (
        "the graph is cut",
        "Follow the walk back from the loss. At which step does it stop?",
        "A result is made into a plain number on the way, so nothing behind it receives anything.",
    ),
    "M9": (
        "the minus of a difference is missing",
        "If b grows a little, does a − b grow or shrink?",
        "The second operand of a difference pushes the other way.",
    ),
    "M10": (
        "the minus of a quotient is missing",
        "Is 1/b rising or falling?",
        "The slope by the divisor is negative wherever the quotient is positive.",
    ),
    "M11": (
        "the square of a quotient is missing",
        "Write a/b with a power of b. What does the power rule do to its exponent?",
        "The exponent −1 becomes −2.",
    ),
    "M12": (
        "the exponent is not lowered",
        "Try x = 2 and the exponent 3 by hand, and compare.",
        "The exponent comes down as a factor, and the power loses one.",
    ),
    "M13": (
        "the exponent is missing as a factor",
        "Your answer is the same number of times off everywhere. Which number of the call is it?",
        "The power was lowered, and the exponent did not come down in front.",
    ),
    "M14": (
        "own value where the other's belongs",
        "If b is 0, can changing a change a·b?",
        "Each factor's slope is the other factor.",
    ),
    "M15": (
        "the input where the output belongs",
        "Can the slope of the exponential ever be negative?",
        "The rule takes the number that went in for the one that came out.",
    ),
    "M16": (
        "multiplied instead of divided",
        "Is the logarithm steep or flat for large x?",
        "The slope falls as x grows.",
    ),
    "M17": (
        "the output where the input belongs",
        "Which saved value does your rule divide by? Print both.",
        "The rule takes the number that came out for the one that went in.",
    ),
    "M18": (
        "the root is not taken",
        "At x = 4 the root's slope is a quarter. What does yours say?",
        "The slope has the root itself below the line, not x.",
    ),
    "M19": (
        "the rule of a probability, applied to a score",
        "Between which two numbers must a probability lie? Is x one?",
        "The formula that you know holds for what came out, not for what went in.",
    ),
    "M20": (
        "the rule of tanh on its input",
        "Your slope is negative somewhere. Is tanh ever falling?",
        "The formula that you know speaks of what came out, and was given what went in.",
    ),
    "M21": (
        "the gate follows the gradient",
        "What decides whether the gate is open: what went in, or what is coming back?",
        "Entries are shut where the gradient is negative, not where the input was.",
    ),
    "M22": (
        "the slope of the negative side is misplaced",
        "Plot the function and your slope in one picture.",
        "One side has the slope 1 and the other the small one.",
    ),
    "M23": (
        "a gradient passes outside the range",
        "Move an entry far beyond a bound a little. Does the output move?",
        "What was clipped does not move the output.",
    ),
    "M24": (
        "both branches receive the gradient",
        "Which input does the second entry of the output come from?",
        "An entry that was not taken receives nothing.",
    ),
    "M25": (
        "the derivative of the other GELU",
        "There are two GELUs. Which one was computed going forward?",
        "The slope belongs to the form that is made with tanh.",
    ),
    "M26": (
        "ties count more than once",
        "Add up what you handed out for one maximum. Is it more than came in?",
        "Each of several equal entries is handed the whole gradient.",
    ),
    "M27": (
        "broadcasting is not undone",
        "How many numbers has the input, and how many did you send back?",
        "One entry touched many outputs, and their gradients belong together.",
    ),
    "M28": (
        "a mean where a sum is due",
        "Every row used it in full. Should their wishes be averaged or added?",
        "What was repeated receives the sum of what its copies receive.",
    ),
    "M29": (
        "an axis of length 1 is dropped",
        "Your numbers are right. Compare the shapes.",
        "The axis that was summed has to stay, with length 1.",
    ),
    "M30": (
        "summed along the wrong axis",
        "Use a 2×3 in place of a 3×3, and run it again.",
        "The axis that was repeated is another one.",
    ),
    "M31": (
        "the summed axis is not put back",
        "Which axis disappeared? Put it back with length 1 first.",
        "Without it, rows receive what columns should.",
    ),
    "M32": (
        "a mean is not divided by its count",
        "Your gradient is a whole number of times too large. Which number?",
        "Each entry is only its share of a mean.",
    ),
    "M33": (
        "a mean is divided by the count of all entries",
        "How many numbers went into one mean?",
        "The count is that along the axis, not that of the array.",
    ),
    "M34": (
        "divided by the count twice",
        "Who divides by the number of rows: the loss, or the layer?",
        "The mean is taken once going forward, and its count is divided by twice going back.",
    ),
    "M35": (
        "the two variances are mixed up",
        "Which divisor did the forward use?",
        "One divides by n, the other by n − 1.",
    ),
    "M36": (
        "the mean's own dependence is ignored",
        "Does the mean move when the first entry moves? Why does that not matter for the plain variance?",
        "With weights, the distances from the mean do not add up to 0, and the way through the mean counts.",
    ),
    "M37": (
        "every entry receives a maximum's gradient",
        "Nudge an entry that is not the largest. Does the maximum notice?",
        "Only the largest moves it.",
    ),
    "M38": (
        "a product is divided by its factor",
        "Put one 0 into the input.",
        "The product of the others is not the product over the factor where that is 0.",
    ),
    "M39": (
        "running sums from the same end",
        "The first entry is part of how many outputs? And the last?",
        "Going back, sums run from the other end.",
    ),
    "M40": (
        "the shares are not normalised",
        "What do your gradients add up to along the axis?",
        "Each receives its exponential, and should receive its share of all of them.",
    ),
    "M41": (
        "a transpose is missing",
        "Write the three shapes under the three letters. Only one order fits.",
        "Upstream runs through the factor the wrong way.",
    ),
    "M42": (
        "the factors are swapped",
        "Your answer lies on its side. What undoes that?",
        "The order of the two factors is turned round.",
    ),
    "M43": (
        "all axes are turned round",
        "Which shape has a (2, 3, 4) after .T?",
        "A stack of matrices is transposed in its last two axes only.",
    ),
    "M44": (
        "a shared factor is not summed over the stack",
        "One matrix served the whole stack. How many gradients should come back?",
        "What each use sends belongs together.",
    ),
    "M45": (
        "the outer product is missing",
        "What is the shape of the matrix, and of what you made?",
        "Every pair of an output and an input has an entry of its own.",
    ),
    "M46": (
        "the same order instead of its inverse",
        "Do it twice on (2, 3, 4). Are you back at the start?",
        "Going back takes the inverse of the order.",
    ),
    "M47": (
        "reshaped instead of transposed",
        "Put 0 to 11 into a 3×4, and follow the number 1.",
        "The shape is right and the entries are in the order of memory.",
    ),
    "M48": (
        "repeated rows keep the last use only",
        "Look the same word up twice. How much should its row learn?",
        "Writing replaces; each use has to be added.",
    ),
    "M49": (
        "the gradient has the shape of the slice",
        "Where in the input did this piece come from? What about the rest?",
        "What was not picked has a place too, with 0 in it.",
    ),
    "M50": (
        "equal shares for unequal parts",
        "How long was each part going in?",
        "The cuts belong where the parts ended.",
    ),
    "M51": (
        "the border is sent back",
        "Did the zeros you added ask for a gradient?",
        "What is sent is too large by the border.",
    ),
    "M52": (
        "the border is cut off on the wrong side",
        "Where is the first entry after padding by 1?",
        "The piece is taken from the corner, where the border is.",
    ),
    "M53": (
        "repeated places keep the last use only",
        "Which outputs were read from this place?",
        "Writing replaces; each use has to be added.",
    ),
    "M54": (
        "the softmax entry by entry",
        "Raise one score. Do the other probabilities stay the same?",
        "Only the diagonal of the derivative is there.",
    ),
    "M55": (
        "the average is taken along the wrong axis",
        "Along which axis do your probabilities add up to 1?",
        "The sum runs along another axis than the softmax.",
    ),
    "M56": (
        "the denominator reaches one column only",
        "The denominator is used by every column: how many arrows go back from it?",
        "What arrives at the sum is handed to each of its terms.",
    ),
    "M57": (
        "the count of rows is missing",
        "Double the batch by copying it. Should the gradient of the mean loss change?",
        "The loss is a mean over rows, and this is the gradient of their sum.",
    ),
    "M58": (
        "the sign of the loss is turned",
        "The right class seems too unlikely: should its score go up or down, when you step against the gradient?",
        "The target is taken from the probability, not the other way round.",
    ),
    "M59": (
        "only the right class receives",
        "Do the wrong classes get no push at all?",
        "The way through the normaliser is missing.",
    ),
    "M60": (
        "the softmax is applied twice",
        "What does your loss take: scores or probabilities?",
        "Probabilities were put into a softmax again.",
    ),
    "M61": (
        "a factor 2 is missing",
        "Your answer is exactly half. Which power did you differentiate?",
        "A square brings down a 2.",
    ),
    "M62": (
        "prediction and target are swapped",
        "The prediction is too high: which sign must its gradient have?",
        "The difference is taken the other way round.",
    ),
    "M63": (
        "one half of the loss is missing",
        "What does a wrong yes cost you, in your rule?",
        "The term of the other class is left out.",
    ),
    "M64": (
        "the penalty counts twice",
        "Is there a ½ in front of the penalty?",
        "Half a square has the slope of the thing itself.",
    ),
    "M65": (
        "the slope of x itself",
        "Is |x| steeper far from 0?",
        "The slope of a size is its sign.",
    ),
    "M66": (
        "the normalisation as plain scaling",
        "Add 1 to every entry of a row. Does the output change? What does that say about the gradient's sum?",
        "Mean and variance are taken for constants.",
    ),
    "M67": (
        "the mean is taken for a constant",
        "Add 1 to every entry of a row. Which of the two statistics did you let through?",
        "The way through the variance is there, the one through the mean is not.",
    ),
    "M68": (
        "the variance is taken for a constant",
        "Double a row. Does the output change? So what is the gradient along the row itself?",
        "The way through the mean is there, the one through the variance is not.",
    ),
    "M69": (
        "summed over too few axes",
        "The weight has one number for each feature. How many places used each?",
        "Every axis but the last was repeated.",
    ),
    "M70": (
        "the batch's statistics are taken for constants",
        "In training, does the first example move the batch's mean?",
        "That is the rule for evaluation.",
    ),
    "M71": (
        "the scale of what was kept is forgotten",
        "By what was divided going forward?",
        "What was kept was made larger, and its gradient is too.",
    ),
    "M72": (
        "the mask is drawn again",
        "Is it the same coin?",
        "Going back, the mask of the forward decides.",
    ),
    "M73": (
        "overlaps are overwritten",
        "How many windows does the third entry belong to?",
        "Each window that saw an entry sends it something, and all of it is added.",
    ),
    "M74": (
        "the kernel is flipped",
        "Slide a kernel 1, 2, 3 over 0, 0, 1, 0, 0. Which way round does it come out?",
        "Each entry of a window receives by its own weight.",
    ),
    "M75": (
        "the weight's gradient is reversed",
        "Which entry of the input does the first weight always see?",
        "The kernel is turned by half a turn.",
    ),
    "M76": (
        "stride or padding is ignored",
        "Where did the second window begin?",
        "Windows are put back side by side, where they had been a stride apart.",
    ),
    "M77": (
        "a place in the window is off by one",
        "Your gradient is not at the largest entry. By how much is it beside it?",
        "Places in a window are counted from 0.",
    ),
    "M78": (
        "a window's count is missing",
        "Which share of its window's output is each entry?",
        "Every entry receives all of it.",
    ),
    "M79": (
        "overlapping windows overwrite",
        "Which windows chose this entry?",
        "What several windows send to one entry is added.",
    ),
    "M80": (
        "the scale of attention is missing",
        "Which factor stood between the scores and the softmax?",
        "The scores were divided going forward, and their gradient is divided too.",
    ),
    "M81": (
        "the mask is forgotten",
        "May the second word look at the fifth? Then may its gradient?",
        "A place that nobody looks at receives nothing.",
    ),
    "M82": (
        "only the last step counts",
        "How many times was the weight used?",
        "Every step in time sends a gradient to the same weight.",
    ),
    "M83": (
        "a state is taken for what it is made of",
        "Name both gradients: which belongs to the state, and which to the sum inside the tanh?",
        "The slope of the tanh lies between the two.",
    ),
    "M84": (
        "one of two uses is forgotten",
        "In how many places of the program does this value stand?",
        "What is used twice receives from both.",
    ),
    "M85": (
        "exponentials overflow",
        "What is exp(1000) in your computer? Which term can you take out first?",
        "The largest score is not taken out before the exponential.",
    ),
    "M86": (
        "single precision where differences are taken",
        "How many digits does single precision have, and how many does your difference use up?",
        "Almost equal numbers are subtracted, and only noise is left.",
    ),
    "M87": (
        "the difference is taken to one side",
        "Take the step to both sides.",
        "To one side, the error falls with the step only; to both, with its square.",
    ),
    "M88": (
        "absolute instead of relative error",
        "Compared with what is your error small?",
        "Tiny gradients pass, and large ones fail.",
    ),
    "M89": (
        "what is no number compares as fine",
        "What is nan > 1?",
        "Every comparison with nan is false, so the test has to ask the other way round.",
    ),
    "M90": (
        "upstream is all ones",
        "Weight the output by random numbers before you add it up.",
        "With ones, many wrong rules look right.",
    ),
    "M91": (
        "shapes are not compared",
        "Compare the shapes before the values.",
        "A column beside a row broadcasts, and nobody says so.",
    ),
    "M92": (
        "a kink is called a mistake",
        "Is there one slope at that point?",
        "Between the slopes on both sides every value is a convention.",
    ),
}
"""Title, question, and what is wrong, by the row's number."""

LAST: dict[str, str] = {
    "M1": "Where a gradient is put down, look at the sign: is it an assignment, or an addition?",
    "M2": "Go over the operands one by one, in a list, so that the same object can come twice.",
    "M3": "Sort first: a node goes on only after every node that was made from it.",
    "M4": "Turn the order round, and begin with 1 at the result.",
    "M5": "Every walk has gradients of its own for inner nodes: they begin at 0 each time.",
    "M6": "Put the upstream into your line as a factor, and try it on a chain of two operations.",
    "M7": "Keep a copy of what the forward used, and let the way back read the copy.",
    "M8": "Look for `.data`, `float(...)` and numbers made anew between the inputs and the result.",
    "M9": "Write the difference as a sum with one of the two turned round.",
    "M14": "Hold one factor fixed and move the other: which number does the product grow by?",
    "M15": "Compare your slope with the function's own values, at 0 and at 1.",
    "M16": "At x = 10 and x = 100: by how much does the logarithm still grow from x to x + 1?",
    "M27": "Add up along every axis that the input did not have, and along those in which it has length 1.",
    "M28": "Take the sum along the repeated axes, and divide by nothing.",
    "M29": "Add up with keepdims=True, or reshape to the input's shape at the end.",
    "M30": "Compare the two shapes from the right: the axes to add up are those that differ.",
    "M36": "Write the mean as a function of the entry too, and follow that second way.",
    "M42": "Which of the two has the rows of the answer? It comes first.",
    "M45": "Entry (i, j) of the matrix joins input j to output i: multiply those two numbers.",
    "M56": "What arrives at the sum is copied to all columns of its row.",
    "M58": "Take the target from what was predicted, and not the other way round.",
    "M61": "Differentiate the square by the power rule, and keep the factor that comes down.",
    "M64": "Multiply the factor in front by the one that the square brings down.",
    "M65": "The slope has the same size everywhere: only its sign depends on the entry.",
    "M82": "Go through the steps in time backwards, and add what each sends to the weight.",
    "M83": "Multiply by the slope of the tanh before you go on to the sum.",
    "M84": "Find every line in which the value stands, and add up one contribution for each.",
    "M85": "Subtract the largest entry first: the result is the same, and nothing overflows.",
    "M86": "Keep everything in double precision: look for float32 and astype.",
    "M87": "Use f(x + h) and f(x − h), and divide by twice the step.",
    "M88": "Let the largest of the right numbers decide how much error is small.",
    "M89": "Ask whether the error is small, not whether it is large; or refuse what is not finite first.",
    "M90": "Multiply f's outputs by upstream before they are added up.",
    "M91": "Refuse before anything is subtracted, if the shapes differ.",
    "M92": "Compare with the smaller and the larger of the two slopes, not with their middle.",
}
"""The last hint of a row, where no rule of the engine says it better."""
