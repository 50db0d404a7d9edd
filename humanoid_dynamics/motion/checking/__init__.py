"""What a clip is looked over for: limits, forces, the zero-moment point, and how findings are told."""
