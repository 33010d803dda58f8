"""JupyterHub for a course with nbgrader's exchange: system users, their passwords, a server of their own for each.

Copy it to /etc/jupyterhub/. docs/jupyterhub.md says what else belongs to it; tests/hub runs it.
"""

import sys

c = get_config()  # noqa: F821

# A web server with TLS stands in front; nobody else reaches the hub.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"

# What the hub keeps lies in a folder that root alone can read.
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/jupyterhub/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = "/srv/jupyterhub/proxy.pid"

# Who may come in: the system's users of these two groups, with the system's passwords.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"instructors", "students"}
c.PAMAuthenticator.open_sessions = False

# Everybody's server runs as that system user, in the environment that the hub runs in.
c.JupyterHub.spawner_class = "localprocess"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
# What a course's notebooks import for their visible checks lies here; instructors write to it, and all can read it.
c.Spawner.environment = {"PYTHONPATH": "/srv/libraries"}
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120
