"""Headway finds out what head-of-line blocking and loss recovery cost an application.

A study file becomes a plan, the plan runs, runs become tables, tables a report; see
`headway --help` for the command line and docs/ for the guide.
"""
