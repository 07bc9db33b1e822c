/** The end of a name, which tells files of a folder or of a series apart. */
const endLength = 16;

/** A name on one line, shortened in its middle where it does not fit. What stands around it says the whole one to those who listen. */
export function ShortName({ name }: { name: string }) {
  const letters = Array.from(name);
  if (letters.length <= 2 * endLength) return name;
  return (
    <span className="short-name" title={name}>
      <span className="one-line">{letters.slice(0, -endLength).join('')}</span>
      <span className="keep">{letters.slice(-endLength).join('')}</span>
    </span>
  );
}
