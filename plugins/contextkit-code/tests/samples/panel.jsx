/** Shows a panel. */
export const Panel = ({ title }) => {
  return <section>{title}</section>;
};

export function Footer() {
  return <footer />;
}
