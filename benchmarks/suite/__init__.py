"""The benchmark suite of the solver: one module a section, one record a section, one page of all records.

A section is a module with

    TITLE                        its heading
    run(options) -> dict         measures; what it returns is stored as JSON
    goals(data) -> list[Goal]    what was aimed at, what was measured, met or not
    markdown(data) -> str        its part of the page
    plots(data, folder)          its pictures, if it has any

Sections measure through :mod:`suite.measure` (turns, peak memory) and :mod:`suite.apart` (processes of their own).
"""
