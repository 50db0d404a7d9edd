# SPDX-License-Identifier: Apache-2.0
"""Motion benchmark: clips through the filter, judged by measures, referees and a frozen record."""
