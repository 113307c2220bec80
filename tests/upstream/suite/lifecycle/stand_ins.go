// Package lifecycle is the "Containers Lifecycle" of Kubernetes' test/e2e_node with what it uses of that package, which
// nobody can import. tests/upstream/programs.py copies the tests here out of the published module before it builds.
package lifecycle

import (
	"context"
	"time"

	"github.com/onsi/ginkgo/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/kubernetes/test/e2e/framework"
	e2epod "k8s.io/kubernetes/test/e2e/framework/pod"
	imageutils "k8s.io/kubernetes/test/utils/image"
)

var SIGDescribe = framework.SIGDescribe("node")

var (
	defaultImage = e2epod.GetDefaultTestImage()
	busyboxImage = imageutils.GetE2EImage(imageutils.BusyBox)
	agnhostImage = imageutils.GetE2EImage(imageutils.Agnhost)
)

const testFinalizer = "example.com/test-finalizer"

func addAfterEachForCleaningUpPods(f *framework.Framework) {
	ginkgo.AfterEach(func(ctx context.Context) {
		ginkgo.By("Deleting any Pods created by the test in namespace: " + f.Namespace.Name)
		client := e2epod.NewPodClient(f)
		list, err := client.List(ctx, metav1.ListOptions{})
		framework.ExpectNoError(err)
		for _, pod := range list.Items {
			client.DeleteSync(ctx, pod.Name, metav1.DeleteOptions{}, 5*time.Minute)
		}
	})
}

// The serial tests restart the kubelet or ask the runtime, on the machine where they run. No selection has them.

const kubeletHealthCheckURL = "only for serial tests"

func getCRIClient(context.Context) (internalapi.RuntimeService, internalapi.ImageManagerService, error) {
	panic(kubeletHealthCheckURL)
}

func mustStopKubelet(context.Context, *framework.Framework) func(context.Context) {
	panic(kubeletHealthCheckURL)
}

func kubeletHealthCheck(string) bool {
	panic(kubeletHealthCheckURL)
}
