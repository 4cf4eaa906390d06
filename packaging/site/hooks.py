"""Makes the navigation of docs/README.md, and leads links that leave docs/ to the repository."""

import posixpath
import re
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
GROUP = re.compile(r"^(?:## (.+)|\| ([^|\[\]]*[^|\[\]\s-]) *\|.*)$")
PAGE = re.compile(r"\[([^\]]+)\]\(([\w-]+\.md)\)")


def on_config(config):
    groups = []
    for line in Path(config.docs_dir, "README.md").read_text().splitlines():
        if title := GROUP.match(line):
            groups.append((title[1] or title[2], []))
        for name, page in PAGE.findall(line):
            if groups and all(page not in item.values() for _, items in groups for item in items):
                groups[-1][1].append({name: page})
    config.nav = [{"All pages": "README.md"}] + [{title: items} for title, items in groups if items]
    return config


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def target(link):
        path, hash, anchor = link[1].partition("#")
        if not path or ":" in path or files.get_file_from_path(posixpath.normpath(posixpath.join(folder, path))):
            return link[0]
        return f"]({config.repo_url}/blob/main/{posixpath.normpath(posixpath.join('docs', folder, path))}{hash}{anchor})"

    return LINK.sub(target, markdown)
