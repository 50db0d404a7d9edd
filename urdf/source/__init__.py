# SPDX-License-Identifier: Apache-2.0
"""Where the bundled robots come from: one table of the human body, mechanisms of the papers, and two writers."""
