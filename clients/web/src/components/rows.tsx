import { Group, Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import IconArrowDown from '@tabler/icons-react/icons/IconArrowDown';
import IconArrowUp from '@tabler/icons-react/icons/IconArrowUp';
import IconSelector from '@tabler/icons-react/icons/IconSelector';
import type { ReactNode } from 'react';
import { t } from '../text.ts';

/** A head by which its column is sorted. */
export interface SortHead {
  label: string;
  isNumber?: boolean;
  /** What stands before its button. */
  before?: ReactNode;
  sorted: 'ascending' | 'descending' | undefined;
  onSort: () => void;
}

type Head = ReactNode | { number: string } | SortHead;

/** A table of rows, which are cards on a phone. A head that is an object stands over numbers, or over menus, which need no word that is seen. */
export function Rows({ heads, children }: { heads: Head[]; children: ReactNode }) {
  return (
    <Table className="cards">
      <Heads heads={heads} />
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

export function Heads({ heads }: { heads: Head[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {heads.map((head, index) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its position.
          if (typeof head === 'object' && head !== null && 'onSort' in head) return <SortableHead key={index} {...head} />;
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

const icons = { ascending: IconArrowUp, descending: IconArrowDown };

function SortableHead({ label, isNumber = false, before, sorted, onSort }: SortHead) {
  const Icon = sorted ? icons[sorted] : IconSelector;
  return (
    <Table.Th aria-sort={sorted} className={isNumber ? 'number' : undefined}>
      <Group gap="sm" wrap="nowrap" justify={isNumber ? 'flex-end' : undefined}>
        {before}
        <UnstyledButton className="sort" onClick={onSort}>
          {label}
          <Icon size={16} aria-hidden />
        </UnstyledButton>
      </Group>
    </Table.Th>
  );
}
