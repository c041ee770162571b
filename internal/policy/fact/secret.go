package fact

// Secret is a stored secret that is asked for; its content is not here.
type Secret struct {
	StaticProperties Map // texts, set when it was imported
}
