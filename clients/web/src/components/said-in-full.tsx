import type { Said } from '../said.ts';
import { inWords } from '../text.ts';
import { Foreign } from './foreign.tsx';

/** What the service has said. In another language its own words stand below: they name the pages, sheets or files. */
export function SaidInFull(said: Said) {
  const words = inWords(said);
  return (
    <>
      <Foreign>{words}</Foreign>
      {words !== said.message && (
        <Foreign size="xs" c="dimmed" lang="en" mb={4}>
          {said.message}
        </Foreign>
      )}
    </>
  );
}
