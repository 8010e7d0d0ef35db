"""An employee: beliefs, the decision to report, and how the fate of others changes what he or she dares."""
