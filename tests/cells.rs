//! The cell cache against a model that scans, and against a shadow of its tensors: no row is read that does not hold the
//! query's own token at the position where it stands now, none that a window reaches is missing, and a refusal changes
//! nothing. At random, exhaustively where it is small, and once where it is large; then the cases by name.

#[path = "cells/bounds.rs"]
mod bounds;
#[path = "cells/cases.rs"]
mod cases;
#[path = "cells/cases_shifts.rs"]
mod cases_shifts;
#[path = "cells/exhaustive.rs"]
mod exhaustive;
#[path = "cells/large.rs"]
mod large;
#[path = "cells/model.rs"]
mod model;
#[path = "cells/pair.rs"]
mod pair;
#[path = "cells/random.rs"]
mod random;
#[path = "cells/refusals.rs"]
mod refusals;
#[path = "cells/setup.rs"]
mod setup;
#[path = "cells/shadow.rs"]
mod shadow;
#[path = "cells/verbs.rs"]
mod verbs;
