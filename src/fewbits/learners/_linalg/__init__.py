"""Steps of linear algebra and optimisation that several learners take."""
