import subprocess

from django.http import HttpResponse


def export(request):
    name = request.GET["name"]
    subprocess.run("tar czf /tmp/out.tgz " + name, shell=True)
    return HttpResponse("<h1>" + name + "</h1>")
