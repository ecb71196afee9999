"""Read documents where their URIs say they lie, and take the text out of them. Neither URI nor document is trusted."""
