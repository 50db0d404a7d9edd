# SPDX-License-Identifier: Apache-2.0
"""Many clips: resumable, on processes or on a cluster."""
