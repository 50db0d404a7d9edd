# SPDX-License-Identifier: Apache-2.0
"""Files of motion: one module per format, and detection by content."""
