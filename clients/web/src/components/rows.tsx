import { Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../text.ts';

/** A table of rows, which are cards on a phone. A head that is an object stands over numbers, or over menus, which need no word that is seen. */
export function Rows({ heads, children }: { heads: (ReactNode | { number: string })[]; children: ReactNode }) {
  return (
    <Table className="cards">
      <Heads heads={heads} />
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

export function Heads({ heads }: { heads: (ReactNode | { number: string })[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {heads.map((head, index) => {
          const number = typeof head === 'object' && head !== null && 'number' in head ? head.number : undefined;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column is its position.
            <Table.Th key={index} className={number && 'number'}>
              {number === t.common.actions ? <VisuallyHidden>{number}</VisuallyHidden> : (number ?? (head as ReactNode))}
            </Table.Th>
          );
        })}
      </Table.Tr>
    </Table.Thead>
  );
}
