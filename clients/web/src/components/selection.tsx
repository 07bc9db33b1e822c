import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useCallback, useState } from 'react';
import { t } from '../text.ts';

/** The selection among rows. Its functions stay the same, so that a row draws itself anew only if it changes. */
export function useSelection<T extends { id: string }>(items: T[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = items.filter(({ id }) => chosen.has(id));
  const toggle = useCallback((id: string) => setChosen((before) => toggled(before, id)), []);
  const isAll = items.length > 0 && selected.length === items.length;
  const all = (
    <Checkbox
      size="xs"
      aria-label={t.common.selectAll}
      checked={isAll}
      indeterminate={!isAll && selected.length > 0}
      onChange={() => setChosen(new Set(isAll ? [] : items.map(({ id }) => id)))}
    />
  );
  return { chosen, selected, toggle, clear: () => setChosen(new Set()), all };
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id]);
}

interface SelectionBarProps {
  selected: number;
  actions: { label: string; run: () => void }[];
  onClear: () => void;
}

/** What can be done with all selected rows at once. It stays in sight. */
export function SelectionBar({ selected, actions, onClear }: SelectionBarProps) {
  return (
    <Group className="selection" gap="xs" role="group" aria-label={t.common.selected(selected)}>
      <Text fw={550} role="status">
        {t.common.selected(selected)}
      </Text>
      {actions.map(({ label, run }) => (
        <Button key={label} size="compact-sm" variant="default" onClick={run}>
          {label}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" color="gray" c="dimmed" onClick={onClear}>
        {t.common.clear}
      </Button>
    </Group>
  );
}
