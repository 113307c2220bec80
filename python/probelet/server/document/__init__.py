"""The JSON documents of a service, as types: mypy compares them with the code that fills them, and
docs/reference/documents.md is made from them. Times are RFC 3339 with milliseconds, in UTC."""
