"""The tools that plugins offer to agents: found, described, called.

| module | what it knows |
|---|---|
| `offers` | the tools of all plugins, and what each takes and gives |
| `shapes` | from a Python type to a JSON schema, and to what reads such a value |
| `calls` | calling a tool, whatever it raises in words |
"""
