import { ActionIcon, Menu } from '@mantine/core';
import IconDots from '@tabler/icons-react/icons/IconDots';
import { useRef } from 'react';
import { t } from '../text.ts';

interface RowMenuProps {
  /** What the row is about. */
  name: string;
  actions: { label: string; isDangerous?: boolean; run: () => void }[];
}

/** What can be done with a row. The focus is on its button before anything is done, so that a dialog gives it back there. */
export function RowMenu({ name, actions }: RowMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          ref={button}
          size={26}
          display="block"
          ml="auto"
          variant="subtle"
          color="gray"
          c="dimmed"
          aria-label={t.common.actionsOf(name)}
        >
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, isDangerous = false, run }) => (
          <Menu.Item
            key={label}
            {...(isDangerous ? { c: 'var(--mantine-color-error)' } : {})}
            onClick={() => {
              button.current?.focus();
              run();
            }}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
