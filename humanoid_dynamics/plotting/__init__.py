"""Pictures of what was computed: one function per figure, matplotlib imported when the first is drawn."""
