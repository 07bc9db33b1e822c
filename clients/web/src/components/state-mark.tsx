/** A state in one word. The color only repeats it. */
export function StateMark({ tone, children }: { tone: 'good' | 'bad' | 'busy' | 'quiet'; children: string }) {
  return (
    <span className="state" data-tone={tone}>
      {children}
    </span>
  );
}
