"""Languages of one domain: HCL of infrastructure, Solidity of contracts."""

from __future__ import annotations

from contextkit_code.languages.language import Language

# The parts of a block's name as code refers to it: `aws_vpc.this`, `data.aws_ami.this`, `var.zone`.
_HCL_PREFIXES = {
    "data": "data",
    "locals": "locals",
    "module": "module",
    "output": "output",
    "provider": "provider",
    "resource": "",
    "terraform": "terraform",
    "variable": "var",
}
_HCL_LABELS = "[(string_lit (template_literal) @name) (identifier) @name]*"
_HCL_BLOCKS = "".join(
    f"""
    (config_file (body (block . (identifier) @_kind . {_HCL_LABELS} . (block_start) @body
        (#in? @_kind "{kind}")) @{kind}))
    """
    for kind in _HCL_PREFIXES
)

HCL = Language(
    name="hcl",
    suffixes=(".tf", ".tfvars", ".hcl", ".nomad"),
    grammar="tree_sitter_hcl",
    prefixes=_HCL_PREFIXES,
    query=f"""
        (comment) @comment
        {_HCL_BLOCKS}
        (config_file (body
            (block . (identifier) @name . {_HCL_LABELS} . (block_start) @body) @block))
    """,
)

SOLIDITY = Language(
    name="solidity",
    suffixes=(".sol",),
    grammar="tree_sitter_solidity",
    query="""
        (comment) @comment
        (contract_declaration name: (_) @name) @contract
        (interface_declaration name: (_) @name) @interface
        (library_declaration name: (_) @name) @library
        (struct_declaration name: (_) @name) @struct
        (enum_declaration name: (_) @name) @enum
        (event_definition name: (_) @name) @event
        (error_declaration name: (_) @name) @error
        (user_defined_type_definition name: (_) @name) @type
        (function_definition name: (_) @name) @function
        (modifier_definition name: (_) @name) @method
        (constructor_definition "constructor" @name) @method
        (fallback_receive_definition ["fallback" "receive"] @name) @method
    """,
)
