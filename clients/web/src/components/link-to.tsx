import { Anchor, type AnchorProps, Button, type ButtonProps, NavLink, type NavLinkProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Own<P> = P & Omit<ComponentPropsWithRef<'a'>, keyof P>;

/** A link to another page of the console. */
export const LinkTo = createLink((props: Own<AnchorProps>) => <Anchor {...props} />);

/** The same as a button. */
export const ButtonTo = createLink((props: Own<ButtonProps>) => <Button component="a" {...props} />);

/** The same in the navigation. */
export const NavTo = createLink((props: Own<NavLinkProps>) => <NavLink component="a" {...props} />);
