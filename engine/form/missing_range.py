"""Why a step that a page computes without the site's model of a step has no range."""

UNRANGED = "No published step was compared with this computation, so it has no range."
MADE_UP = "The job is made up: nobody measured it, so it has no range."
