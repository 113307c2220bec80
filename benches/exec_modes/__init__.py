"""Both ways of exec probes into real containers, measured in one run."""
