/** Narrower paragraphs are addresses and verses, whose lines somebody has ended. */
const leastWidth = 45;
/** A line is full if not even the next word would have had room, with letters that are wider than others. */
const slack = 0.9;

/** A text from a page whose paragraphs flow: the ends of full lines are blanks. Every position stays as it is. */
export function flowed(text: string): string {
  return text.split('\n\n').map(flowedParagraph).join('\n\n');
}

function flowedParagraph(text: string): string {
  const lines = text.split('\n');
  const width = lines.reduce((widest, { length }) => Math.max(widest, length), 0);
  if (width < leastWidth) return text;
  return lines.reduce((before, line, index) => {
    const word = line.split(' ', 1)[0] ?? '';
    const isFull = (lines[index - 1] ?? '').length + 1 + word.length > slack * width;
    const isOwn = line === '' || /^(?:[-–•*|]|\d+[.)]) /.test(line) || lines[index - 1]?.startsWith('|');
    return `${before}${isFull && !isOwn ? ' ' : '\n'}${line}`;
  });
}
