"""Show estimates on one page that stands alone: charts, tables, and what they rest on."""

import logging

# What draws makes a list of fonts when it is imported, and would say so; it would complain of a home without a place
# for it, too.
logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
