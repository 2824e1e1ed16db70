"""A module that says by being there that Likewise is installed.

The VS Code extension looks for this name in each interpreter (`clients/vscode/src/python.ts`), without importing it. Keep the
name: interpreters and extensions of different versions meet.
"""
