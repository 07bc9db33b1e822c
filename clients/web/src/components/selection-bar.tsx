import { Button, Group, Text } from '@mantine/core';
import { t } from '../text.ts';

interface SelectionBarProps {
  selected: number;
  onDelete: () => void;
  onClear: () => void;
}

/** What can be done with all selected rows at once. It stays in sight. */
export function SelectionBar({ selected, onDelete, onClear }: SelectionBarProps) {
  return (
    <Group className="selection" gap="xs" role="group" aria-label={t.common.selected(selected)}>
      <Text size="sm" fw={550} role="status">
        {t.common.selected(selected)}
      </Text>
      <Button size="compact-sm" variant="default" onClick={onDelete}>
        {t.common.delete}
      </Button>
      <Button size="compact-sm" variant="subtle" color="gray" c="dimmed" onClick={onClear}>
        {t.common.clear}
      </Button>
    </Group>
  );
}
