"""Show estimates on one page that stands alone: charts, tables, and what they rest on."""
