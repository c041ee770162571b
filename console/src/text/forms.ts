// Forms that texts are made of.

// Names stand in sentences: characters that would turn the text around them are
// shown, not obeyed.
export const shown = (name: string) => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

export const plural = (n: number, one: string, many: string) => (n === 1 ? one : many);
