/** A field of an old form: a box to tick, or a list to choose from. It is in its state, or else as it was when the form was made. */
export class WordField {
  #default = '';
  #state: string | undefined;
  /** The choices of a list. */
  #choices: string[] | undefined;
  #isOpen = false;

  open(name: string, value: string): void {
    if (name === 'w:checkBox' || name === 'w:ddList') {
      [this.#isOpen, this.#default, this.#state] = [true, '0', undefined];
      this.#choices = name === 'w:ddList' ? [] : undefined;
    } else if (!this.#isOpen) return;
    else if (name === 'w:default') this.#default = value;
    else if (name === 'w:checked' || name === 'w:result') this.#state = value;
    else if (name === 'w:listEntry') this.#choices?.push(value);
  }

  /** What it shows. */
  close(): string {
    this.#isOpen = false;
    const state = this.#state ?? this.#default;
    if (this.#choices) return this.#choices[Number(state)] ?? '';
    return ['0', 'false', 'off'].includes(state) ? '☐ ' : '☒ ';
  }
}
